/** The draft that somebody wrote and has not saved: kept in this browser, by person, preset and version that it began with. */
import type { PresetContent } from '../../diff/content-diff.tsx'

const nameOf = (user: string, slug: string, base: number): string => `patchbay.draft.${user}.${slug}.${base}`

export const readDraft = (user: string, slug: string, base: number): PresetContent | null => {
  const kept = localStorage.getItem(nameOf(user, slug, base))
  return kept === null ? null : (JSON.parse(kept) as PresetContent)
}

/** Null forgets it. */
export const keepDraft = (user: string, slug: string, base: number, content: PresetContent | null): void => {
  if (content === null) localStorage.removeItem(nameOf(user, slug, base))
  else localStorage.setItem(nameOf(user, slug, base), JSON.stringify(content))
}
