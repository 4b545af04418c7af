// The key / goes to the search box, except where a key is text or belongs to an input method.
document.addEventListener("keydown", (event) => {
  const box = document.getElementById("q");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && isPlain && !isTyping && box) {
    event.preventDefault();
    box.focus();
    box.select();
  }
});
