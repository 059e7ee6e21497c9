import type { PresetVersionResource } from '../../contract/preset.ts'

/** The preset's settings of the response cache; null if the preset does not set them. */
export interface PresetCaching {
  readonly enabled: boolean | null
  readonly ttlSeconds: number | null
}

export const presetCaching = ({ cache_enabled: enabled, cache_ttl_seconds: ttl }: PresetVersionResource['config']): PresetCaching => ({
  enabled: typeof enabled === 'boolean' ? enabled : null,
  ttlSeconds: typeof ttl === 'number' ? ttl : null,
})
