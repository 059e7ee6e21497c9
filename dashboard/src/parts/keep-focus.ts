/**
 * Moves the focus of an element that is removed, such as a row that was just deleted, to the title of the screen: from the body the keyboard
 * would begin the page anew. The title of a screen that is still loading hands it on in the same way. Returns the function that ends this.
 */
export const keepFocus = (): (() => void) => {
  let last: Element | null = null
  const remember = ({ target }: FocusEvent): void => {
    last = target instanceof Element ? target : null
  }
  // A click beside every control gives the focus up on purpose. A second click on the same control does not.
  const forget = ({ target }: PointerEvent): void => {
    if (target instanceof Node && last?.contains(target) !== true) last = null
  }
  const observer = new MutationObserver(() => {
    if (document.activeElement === document.body && last !== null && !last.isConnected) focusTitle()
  })
  document.addEventListener('focusin', remember)
  document.addEventListener('pointerdown', forget, true)
  observer.observe(document.body, { childList: true, subtree: true })
  return () => {
    document.removeEventListener('focusin', remember)
    document.removeEventListener('pointerdown', forget, true)
    observer.disconnect()
  }
}

export const focusTitle = (): void => {
  if (document.querySelector('dialog[open]') !== null) return
  // The title of an open request comes after that of its list.
  const titles = document.querySelectorAll<HTMLElement>('#content h1')
  titles[titles.length - 1]?.focus({ preventScroll: true })
}
