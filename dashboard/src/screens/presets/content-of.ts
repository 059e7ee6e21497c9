import type { PresetVersion } from '../../api/presets.ts'
import type { PresetContent } from '../../diff/content-diff.tsx'

export const contentOf = ({ system_prompt, config }: PresetVersion): PresetContent => ({ system: system_prompt ?? '', settings: config })

export const sameContent = (one: PresetContent, other: PresetContent): boolean =>
  one.system === other.system && JSON.stringify(one.settings) === JSON.stringify(other.settings)
