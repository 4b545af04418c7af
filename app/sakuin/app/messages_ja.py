"""The pages' messages in Japanese."""

from sakuin.app.contexts import Notice, Step
from sakuin.app.messages import Messages
from sakuin.indexer.diagnostic import DiagnosticCode
from sakuin.indexer.engine import Order
from sakuin.indexer.freshness import MOST_COUNTED
from sakuin.indexer.limits import DEFAULT_DISTANCE, MOST_DISTANCE, MOST_NEAR_PARTS


def _changes(waiting: int) -> str:
    return f"{MOST_COUNTED:,}件以上" if waiting > MOST_COUNTED else f"{waiting:,}件"


JAPANESE = Messages(
    lang="ja",
    name="索引 Sakuin",
    skip="本文へ移動",
    menu="メニュー",
    nav_add="段落を追加",
    api="API",
    box_label="探すことば",
    button="検索",
    home_heading="文章の中から、ことばを探す",
    documents=lambda count: f"{count:,}件の段落を検索できます。",
    help_summary="検索のしかた",
    names="この索引で使える項目名:",
    help_rows=(
        ("人間 残酷", "空白で区切ると、すべてを含むもの"),
        ("春 OR 秋", "どちらかを含むもの"),
        ("図書館 -司書", "後の語を含まないもの（NOT も同じ）"),
        ('"last page"', "空白も含めて、この並びのまま"),
        ("lib* *ary wom*n", "この綴りで始まる語、終わる語、* のところに何文字か入る語"),
        ("(春 OR 秋) 雨", "かっこで先にまとめる"),
        ("source:notes*", "出典の名前がこれで始まるものだけ"),
        ("created:2024-01..2024-03", "この期間（UTC）のものだけ。>=2024 や 2024-01-15 とも"),
    ),
    results_title=lambda query, page: f"「{query}」の検索結果（{page:,}ページ）",
    found=lambda total: f"{total:,}件",
    not_searched="検索していません",
    took=lambda ms: f"{ms:,.1f}ミリ秒",
    shown=lambda first, last: f"{first:,}–{last:,}件目",
    nothing_found="見つかりませんでした。",
    nothing_found_hints=(
        "書かれたとおりの文字の並びを探します。短い語に分けてみてください。",
        "空白で区切った語は、すべて含むものだけが見つかります。OR でつなぐと広がります。",
        "保存したばかりの文章は、索引に入るまで少し待つことがあります。",
    ),
    out_of_range=lambda page, total: (
        f"{page:,}ページ目はありません。検索結果は全{total:,}ページです。"
    ),
    last_page="最後のページへ",
    indexes="索引",
    filter="絞り込み中:",
    unfilter="絞り込みを外す",
    order="並び順",
    orders={
        Order.RELEVANCE: "関連度",
        Order.ID: "番号順",
        Order.NEWEST: "新しい順",
        Order.OLDEST: "古い順",
        Order.SOURCE: "出典の順",
    },
    narrow=lambda name: f"{name}で絞り込む",
    names_of_facets={"source": "出典", "created": "時期"},
    others=lambda count: f"ほかの値の文章 {count:,}件",
    number=lambda count: f"{count:,}",
    did_you_mean="もしかして",
    closest="一致するものではありません。ことばの一部か、綴りの近い語を含む文章を、"
    "近い順に並べています。",
    closest_heading=lambda total: f"近い文章 {total:,}件",
    closest_all=lambda total: f"近い文章{total:,}件をすべて見る",
    exact="このことばを完全一致で検索する",
    similar="似た文章",
    similar_heading=lambda total: f"似た文章 {total:,}件",
    stale="索引に入った後で編集されています",
    removed=lambda count: f"このページの{count:,}件は、その後に削除されたので表示していません。",
    json="この結果を JSON で見る",
    pages="ページ送り",
    page=lambda number: f"{number:,}ページ",
    previous="前へ",
    next="次へ",
    note="お知らせ",
    notices={
        Notice.BAD_PAGE: "ページの番号が正しくないので、1ページ目を表示しています。",
        Notice.BAD_PER_PAGE: "1ページの件数は1から100までの数です。既定の件数で表示しています。",
        Notice.BAD_ORDER: "知らない並び順なので、関連度の順で表示しています。",
        Notice.BAD_GENERATION: "世代の番号が正しくないので、最新の世代を検索しました。",
        Notice.BAD_DIALECT: "その書式はないので、Sakuinの書式として検索しました。",
        Notice.BAD_AFTER: "続きからの表示は番号順でしかできないので、1ページ目を表示しています。",
        Notice.BAD_MODE: "その検索方法はないので、完全一致で検索しました。",
        Notice.BAD_LIKE: "似た文章を探す元の文章が、索引にありません。",
        Notice.TOO_FAR: "ページ番号で進めるのは10万件までなので、1ページ目を表示しています。"
        "番号順では、その最後のページからさらに先へ進めます。",
        Notice.RESTARTED: "見ていた世代の索引はもうないので、"
        "最新の世代で1ページ目から表示しています。",
    },
    remarks={
        DiagnosticCode.EMPTY_QUERY: "探すことばがありません。",
        DiagnosticCode.EMPTY_TERM: "目に見える文字がないので、除いて検索しました。",
        DiagnosticCode.TOO_LONG: "長すぎるので検索していません。短くしてください。",
        DiagnosticCode.TOO_MANY_TERMS: "語が多すぎるので検索していません。減らしてください。",
        DiagnosticCode.TOO_DEEP: "かっこの入れ子が深すぎるので検索していません。",
        DiagnosticCode.UNCLOSED_QUOTE: "引用符が閉じていないので、終わりまでを一続きとしました。",
        DiagnosticCode.UNCLOSED_PARENTHESIS: "かっこが閉じていないので、"
        "終わりまでをひとまとまりとしました。",
        DiagnosticCode.UNMATCHED_PARENTHESIS: "対になるかっこがないので、文字として探しました。",
        DiagnosticCode.TOO_MANY_WORDS: "この形の語が多すぎるので検索していません。"
        "* の前後の文字を増やしてください。",
        DiagnosticCode.LONE_OPERATOR: "つなぐ相手の語がないので、文字として探しました。",
        DiagnosticCode.QUOTE_AS_TEXT: "語の中の引用符は、文字として探しました。",
        DiagnosticCode.STAR_AS_TEXT: "* が働くのは語の両端と、wom*n のように"
        "英字や数字の間だけです。文字として探しました。",
        DiagnosticCode.REPLACED_CHARACTER: "制御文字は空白、"
        "片割れのサロゲートは U+FFFD とみなしました。",
        DiagnosticCode.ALL_BUT: "除く語だけなので、それ以外のすべてが見つかります。",
        DiagnosticCode.BAD_NUMBER: "整数として読めないので検索していません。"
        "5、>=100、<100、10..20、10..、..20 のように書いてください。",
        DiagnosticCode.BAD_TIME: "日時として読めないので検索していません。2024、2024-01、"
        "2024-01-15、2024-01-15T10:30（UTC）のように書き、前に >= や <、間に .. も使えます。",
        DiagnosticCode.BAD_KEYWORD: "値として読めないので検索していません。値の全体か、"
        "始まりと * を書いてください。文字としての * は引用符で囲みます。",
        DiagnosticCode.EMPTY_RANGE: "範囲の終わりが始まりより前なので検索していません。",
        DiagnosticCode.UNSUPPORTED: "この書き方は使えないので検索していません。除いてください。",
        DiagnosticCode.OPTIONAL_WORDS: "+ の付いた語があると、ほかの語は結果を変えないので、"
        "除いて検索しました。",
        DiagnosticCode.RANK_IGNORED: "< > ~ は並び順だけの記号なので、除いて検索しました。",
        DiagnosticCode.UNKNOWN_FIELD: "この索引にその名前の項目はないので、"
        "文字として検索しました。",
        DiagnosticCode.UNKNOWN_FILTER: "この索引にその名前の項目はないので、検索していません。",
        DiagnosticCode.PRAGMA_IGNORED: "この指定はここでは意味がないので、除いて検索しました。",
        DiagnosticCode.NEAR_DISTANCE: f"~ の後に数がないので、~{DEFAULT_DISTANCE} としました。",
        DiagnosticCode.NEAR_ALONE: "~ は引用符の中に語が二つ要るので、除いて検索しました。",
        DiagnosticCode.NEAR_AS_TEXT: "~ が働くのは、* のない引用符のすぐ後で、"
        "数が続くときだけです。文字として探しました。",
        DiagnosticCode.NEAR_TOO_FAR: f"近さは {MOST_DISTANCE} までなので検索していません。"
        "数を小さくしてください。",
        DiagnosticCode.NEAR_TOO_MANY: f"近さで探せるのは {MOST_NEAR_PARTS} 語までなので"
        "検索していません。減らしてください。",
        DiagnosticCode.NEAR_TOO_COMMON: "近くにあるべき語のすべてを含む文が多すぎるので"
        "検索していません。もっと珍しい語にしてください。",
        DiagnosticCode.SYNONYMS: "同義語も探しました。",
        DiagnosticCode.SYNONYMS_LEFT_OUT: "同義語を加えると語が多くなりすぎるので、"
        "この語だけを探しました。",
    },
    quoted=lambda text: f"「{text}」",
    freshness=lambda generation, waiting: (
        f"第{generation:,}世代の索引、反映待ちの変更{_changes(waiting)}"
    ),
    generation=lambda generation: f"第{generation:,}世代の索引",
    no_generation=lambda waiting: f"索引はまだありません。反映待ちの変更{_changes(waiting)}",
    no_indexer="索引を作る処理が動いていません。次のコマンドで始めてください:",
    no_indexer_remedy="sakuin worker",
    queue_paused="索引への反映は一時停止中です。次のコマンドで再開します:",
    database_away="データベースにつながりません。検索は索引だけで続けています。"
    "その後の編集や削除は反映されていないことがあります。",
    add_heading="段落を追加",
    add_intro="保存はすぐに終わります。索引には、後から自動で入ります。",
    body="本文",
    source="出典の名前",
    source_hint="空のままでもかまいません。",
    save="保存",
    refused=lambda field: f"{field}を保存できませんでした。理由:",
    fields={"body": "本文", "source": "出典の名前"},
    receipt_heading="保存しました",
    delete_receipt_heading="削除しました",
    steps={
        Step.WAITING: "順番待ち",
        Step.INDEXING: "索引づけ中",
        Step.SEARCHABLE: "検索できます",
        Step.FAILED: "失敗しました",
    },
    delete_steps={
        Step.WAITING: "順番待ち",
        Step.INDEXING: "索引から削除中",
        Step.SEARCHABLE: "索引から消えました",
        Step.FAILED: "失敗しました",
    },
    explanations={
        Step.WAITING: "変更は保存されました。索引に反映される順番を待っています。",
        Step.INDEXING: "変更を索引に反映しています。",
        Step.SEARCHABLE: "変更は索引に反映されました。",
        Step.FAILED: "変更は保存されましたが、索引に反映できませんでした。",
    },
    searchable_now="この段落は、もう検索で見つかります。",
    gone_now="この段落は、もう検索に出ません。",
    look_again="いまの状態を確かめる",
    to_paragraph="段落を見る",
    add_another="もう一つ追加する",
    paragraph=lambda source, position: f"{source} {position:,}",
    version="版",
    created="作成",
    updated="更新",
    time=lambda at: f"{at.year}年{at.month}月{at.day}日 {at:%H:%M} UTC",
    edit="編集",
    save_changes="変更を保存",
    delete="削除",
    delete_warning="この段落を削除します。元には戻せません。",
    delete_now="この段落を削除する",
    errors={
        400: "要求を理解できませんでした",
        403: "この操作は許可されていません",
        404: "見つかりません",
        405: "この操作はできません",
        409: "ほかの変更と重なりました",
        413: "大きすぎます",
        422: "正しくない値があります",
        500: "内部の誤りが起きました",
        503: "いまは応じられません",
    },
    error=lambda status: f"エラー {status}",
    request_id="要求の番号",
    to_search="検索へもどる",
)
