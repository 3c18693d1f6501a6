// The theme's arrows that unfold a branch of the navigation have no name for those who cannot see them.
document.addEventListener("DOMContentLoaded", () => {
    for (const summary of document.querySelectorAll("li > details > summary")) {
        const branch = summary.closest("li").querySelector("a");
        if (branch && !summary.textContent.trim()) {
            summary.setAttribute("aria-label", `Pages below ${branch.textContent.trim()}`);
        }
    }
});
