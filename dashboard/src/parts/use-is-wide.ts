import { useSyncExternalStore } from 'react'

/** Says whether the window is wider than this, in the font size of the browser, as `@media (width <= …)` of the style sheets. */
export const useIsWide = (em: number): boolean => {
  const query = `(width > ${em}em)`
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )
}
