/** Light, dark, or the system's theme; kept in this browser. */
import { createChoiceOf } from './choice.ts'

export const THEMES = ['system', 'light', 'dark'] as const

export const theme = createChoiceOf('patchbay.theme', THEMES)

/** Applies the theme now, and whenever another is chosen. */
export const applyTheme = (): void => {
  showTheme()
  theme.subscribe(showTheme)
}

const showTheme = (): void => {
  const chosen = theme.get()
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}
