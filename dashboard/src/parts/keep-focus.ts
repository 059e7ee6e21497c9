/** True while a screen is waiting for its title, to give it the focus. */
let isWanted = false

/**
 * Moves the focus of an element that is removed, such as a row that was just deleted, to the title of the screen: from the body the keyboard
 * would begin the page anew. The title of a screen that is still loading hands it on in the same way. Returns the function that ends this.
 */
export const keepFocus = (): (() => void) => {
  let last: Element | null = null
  const remember = ({ target }: FocusEvent): void => {
    last = target instanceof Element ? target : null
    isWanted = false
  }
  // A click beside every control gives the focus up on purpose. A second click on the same control does not.
  const forget = ({ target }: PointerEvent): void => {
    if (target instanceof Node && last?.contains(target) !== true) last = null
    isWanted = false
  }
  const observer = new MutationObserver(() => {
    const isLost = last !== null && !last.isConnected
    if (document.activeElement === document.body && (isWanted || isLost)) focusTitle()
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

/** Gives the focus to the title of the screen, as soon as there is one and no dialog is open. */
export const focusTitle = (): void => {
  // The title of an open request comes after that of its list.
  const title = [...document.querySelectorAll<HTMLElement>('#content h1')].at(-1)
  if (document.querySelector('dialog[open]') === null) title?.focus({ preventScroll: true })
  // The title of a screen that is being replaced is hidden, and takes no focus.
  isWanted = title === undefined || document.activeElement !== title
}
