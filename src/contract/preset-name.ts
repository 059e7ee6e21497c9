/** How presets and their versions are named, and the states of a preset (docs/contract/presets.md#slugs). */
import { z } from 'zod'

export const presetStatus = z.enum(['active', 'disabled', 'archived'])

/** 1-128 unreserved characters of RFC 3986, but not `.` or `..` (docs/contract/presets.md#slugs). */
export const presetSlug = z
  .string()
  .min(1)
  .max(128)
  .regex(/^(?!\.{1,2}$)[A-Za-z0-9._~-]+$/, 'Use 1 to 128 of the characters A-Z a-z 0-9 . _ ~ - (not "." or "..").')
  .meta({ description: 'URL-safe, case-sensitive, unique in its workspace.', examples: ['support-bot'] })

/** A label refers to a version by name: `@preset/slug@staging`. It must not look like a version number. */
export const presetLabel = z
  .string()
  .max(64)
  .regex(/^[A-Za-z_][A-Za-z0-9._-]*$/, 'Start with a letter or _, then letters, digits, . _ -')

/** More labels than anybody needs; they are part of every answer that shows a preset. */
export const PRESET_LABELS_MAX = 100
