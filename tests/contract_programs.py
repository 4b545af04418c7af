"""Programs that use the queue by plain SQL alone: the public contract of the message table.

Nothing in them is ours but the table. Each is told its work by arguments and prints what it got.
"""

PHP_PUSH = """<?php
[$_, $dsn, $user, $password, $data] = $argv;
$db = new PDO($dsn, $user ?: null, $password ?: null);
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$insert = $db->prepare(str_starts_with($dsn, 'sqlite:')
    ? 'INSERT INTO sakuin_messages (data) VALUES (?)'
    : 'INSERT INTO sakuin_messages SET data = ?');
$insert->execute([$data]);
echo $db->lastInsertId();
"""

PHP_CLAIM_MYSQL = """<?php
[$_, $dsn, $user, $password, $queue, $limit] = $argv;
$db = new PDO($dsn, $user, $password);
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$db->exec('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
$token = random_bytes(16);

$db->beginTransaction();
$ready = $db->prepare('SELECT id, data FROM sakuin_messages'
    . ' FORCE INDEX (sakuin_messages_claim)'
    . ' WHERE queue = ? AND locked_until <= UTC_TIMESTAMP(6)'
    . ' ORDER BY priority, locked_until, id LIMIT ' . (int) $limit . ' FOR UPDATE SKIP LOCKED');
$ready->execute([$queue]);
$messages = $ready->fetchAll(PDO::FETCH_ASSOC);
$take = $db->prepare('UPDATE sakuin_messages SET token = ?, attempts = attempts + 1,'
    . ' unique_key = NULL, locked_until = UTC_TIMESTAMP(6) + INTERVAL 60 SECOND WHERE id = ?');
foreach ($messages as $message) {
    $take->execute([$token, $message['id']]);
}
$db->commit();

foreach ($messages as $message) {
    echo $message['id'], ' ', bin2hex($token), ' ', bin2hex($message['data']), "\\n";
}
"""

PHP_CLAIM_SQLITE = """<?php
[$_, $dsn, $user, $password, $queue, $limit] = $argv;
$db = new PDO($dsn);
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$token = random_bytes(16);

$db->exec('BEGIN IMMEDIATE');
$ready = $db->prepare('SELECT id, data FROM sakuin_messages'
    . " WHERE queue = ? AND locked_until <= strftime('%Y-%m-%d %H:%M:%f000', 'now')"
    . ' ORDER BY priority, locked_until, id LIMIT ' . (int) $limit);
$ready->execute([$queue]);
$messages = $ready->fetchAll(PDO::FETCH_ASSOC);
$take = $db->prepare('UPDATE sakuin_messages SET token = ?, attempts = attempts + 1,'
    . " unique_key = NULL, locked_until = strftime('%Y-%m-%d %H:%M:%f000', 'now', '+60 seconds')"
    . ' WHERE id = ?');
foreach ($messages as $message) {
    $take->bindValue(1, $token, PDO::PARAM_LOB);
    $take->bindValue(2, $message['id'], PDO::PARAM_INT);
    $take->execute();
}
$db->exec('COMMIT');

foreach ($messages as $message) {
    echo $message['id'], ' ', bin2hex($token), ' ', bin2hex($message['data']), "\\n";
}
"""

PHP_ACK = """<?php
[$_, $dsn, $user, $password, $id, $token] = $argv;
$db = new PDO($dsn, $user ?: null, $password ?: null);
$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$ack = $db->prepare('DELETE FROM sakuin_messages WHERE id = ? AND token = ?');
$ack->bindValue(1, $id, PDO::PARAM_INT);
$ack->bindValue(2, hex2bin($token), PDO::PARAM_LOB);
$ack->execute();
echo $ack->rowCount() === 1 ? 'ours' : 'lost';
"""

SHELL_PUSH_MYSQL = """\
mariadb "$@" -e "INSERT INTO sakuin_messages SET data = 'from the shell'"
"""

SHELL_CLAIM_MYSQL = """\
mariadb "$@" --batch --skip-column-names <<'SQL'
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET @token = UNHEX(REPLACE(UUID(), '-', ''));
START TRANSACTION;
SELECT id INTO @id FROM sakuin_messages FORCE INDEX (sakuin_messages_claim)
 WHERE queue = 'default' AND locked_until <= UTC_TIMESTAMP(6)
 ORDER BY priority, locked_until, id LIMIT 1 FOR UPDATE SKIP LOCKED;
UPDATE sakuin_messages
   SET token = @token, attempts = attempts + 1, unique_key = NULL,
       locked_until = UTC_TIMESTAMP(6) + INTERVAL 60 SECOND
 WHERE id = @id;
COMMIT;
SELECT id, HEX(token), HEX(data) FROM sakuin_messages WHERE id = @id AND token = @token;
SQL
"""

SHELL_ACK_MYSQL = """\
id=$1 token=$2; shift 2
mariadb "$@" --batch --skip-column-names -e "
DELETE FROM sakuin_messages WHERE id = $id AND token = UNHEX('$token');
SELECT IF(ROW_COUNT() = 1, 'ours', 'lost')"
"""

SQLITE_PUSH = "INSERT INTO sakuin_messages (data) VALUES ('from the shell');"

SQLITE_CLAIM = """\
BEGIN IMMEDIATE;
UPDATE sakuin_messages
   SET token = randomblob(16), attempts = attempts + 1, unique_key = NULL,
       locked_until = strftime('%Y-%m-%d %H:%M:%f000', 'now', '+60 seconds')
 WHERE id = (SELECT id FROM sakuin_messages
              WHERE queue = 'default'
                AND locked_until <= strftime('%Y-%m-%d %H:%M:%f000', 'now')
              ORDER BY priority, locked_until, id LIMIT 1)
RETURNING id, hex(token), hex(data);
COMMIT;
"""

SQLITE_ACK = """\
DELETE FROM sakuin_messages WHERE id = {id} AND token = x'{token}';
SELECT CASE changes() WHEN 1 THEN 'ours' ELSE 'lost' END;
"""
