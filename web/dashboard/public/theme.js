// Loaded before anything is painted, so that the page never flashes in the other theme. A file of its own, because scripts come from files only.
(() => {
  let kept = null;
  try { kept = localStorage.getItem('theme'); } catch { /* a private window */ }
  if (kept === 'light' || kept === 'dark') document.documentElement.dataset.theme = kept;
})();
