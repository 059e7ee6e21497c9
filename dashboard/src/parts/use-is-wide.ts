import { useSyncExternalStore } from 'react'

/** Says whether the window is at least this wide. */
export const useIsWide = (px: number): boolean => {
  const query = `(min-width: ${px}px)`
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )
}
