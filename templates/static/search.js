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

// What may be meant by what is being typed, from the index; an input method is left in peace.
(() => {
  const box = document.getElementById("q");
  const list = document.getElementById("suggestions");
  if (!box || !list || !box.dataset.suggest) return;
  let waiting = 0;
  let asking = new AbortController();
  const show = (suggestions) => {
    list.replaceChildren(
      ...suggestions.map(({ text, documents }) => {
        const option = document.createElement("option");
        option.value = text;
        option.label = documents.toLocaleString(document.documentElement.lang);
        return option;
      }),
    );
  };
  const ask = async () => {
    asking.abort();
    asking = new AbortController();
    const wanted = new URLSearchParams({ q: box.value });
    const index = box.form.elements.namedItem("index");
    if (index) wanted.set("index", index.value);
    try {
      const answer = await fetch(`${box.dataset.suggest}?${wanted}`, { signal: asking.signal });
      if (answer.ok) show((await answer.json()).suggestions);
    } catch (error) {
      if (error.name !== "AbortError") show([]);  // without suggestions the box works as well
    }
  };
  const later = (event) => {
    clearTimeout(waiting);
    if (!event.isComposing && box.value.trim()) waiting = setTimeout(ask, 150);
  };
  box.addEventListener("input", later);
  box.addEventListener("compositionend", later);
})();
