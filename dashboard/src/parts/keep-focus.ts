/**
 * Moves focus that would be lost to the title of the screen, until the person does something: the focused element may be removed a moment
 * later, and the title of a screen that is still loading replaces the one before. `arriving`: the title takes the focus at once. Returns
 * the function that ends the waiting.
 */
export const keepFocus = (arriving = false): (() => void) => {
  const focus = (): void => {
    if (document.querySelector('dialog[open]') !== null) return
    // The title of an open request comes after that of its list.
    const titles = document.querySelectorAll<HTMLElement>('#content h1')
    titles[titles.length - 1]?.focus({ preventScroll: true })
  }
  const focusWhereLost = (): void => {
    if (document.activeElement === document.body) focus()
  }
  const observer = new MutationObserver(focusWhereLost)
  const timer = setTimeout(() => {
    if (arriving) focus()
    else focusWhereLost()
    observer.observe(document.body, { childList: true, subtree: true })
  }, 0)
  const end = (): void => {
    clearTimeout(timer)
    observer.disconnect()
    for (const type of ['keydown', 'pointerdown']) document.removeEventListener(type, end, true)
  }
  for (const type of ['keydown', 'pointerdown']) document.addEventListener(type, end, true)
  return end
}
