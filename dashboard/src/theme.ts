/** Light, dark, or the system's theme; kept in this browser. */
import { createStore } from './store.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const NAME = 'patchbay.theme'

const kept = (): Theme => THEMES.find((theme) => theme === localStorage.getItem(NAME)) ?? 'system'

export const theme = createStore<Theme>(kept())

export const applyTheme = (): void => {
  const chosen = theme.get()
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}

export const chooseTheme = (chosen: Theme): void => {
  localStorage.setItem(NAME, chosen)
  theme.set(chosen)
  applyTheme()
}
