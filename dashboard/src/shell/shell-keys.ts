import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'

import { useKeys, type Keys } from './keyboard.ts'
import { toggleFigures } from '../figures.ts'
import type { Screen } from './navigation.ts'

/** How long `g` waits for its second key. */
const GO_MS = 1500

/** `g r` goes to Requests; ⌘K opens the palette; `x` shows figures exactly; `?` lists the keys. */
export const useShellKeys = (parts: { screens: readonly Screen[]; openPalette: () => void; openHelp: () => void }): void => {
  const navigate = useNavigate()
  const goSince = useRef(Number.NEGATIVE_INFINITY)
  const isGoing = (): boolean => performance.now() - goSince.current < GO_MS
  const going: Keys = Object.fromEntries(
    parts.screens.map(({ key, to }) => [
      key,
      () => {
        if (!isGoing()) return false
        goSince.current = Number.NEGATIVE_INFINITY
        return navigate({ to })
      },
    ]),
  )
  useKeys({
    ...going,
    g: () => (goSince.current = performance.now()),
    '?': parts.openHelp,
    x: toggleFigures,
    'mod+k': parts.openPalette,
  })
}
