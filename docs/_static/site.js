// What the theme leaves without a name for those who do not see it.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("summary:has(.toctree-toggle)")) {
    summary.setAttribute("aria-label", "Show or hide the pages below");
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
  // A wide table scrolls by itself; so it must be reached by the keyboard.
  for (const table of document.querySelectorAll(".bd-article table.table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
});
