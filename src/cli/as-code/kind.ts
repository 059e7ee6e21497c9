/** The description of every kind of object that can be kept as files. */
import type { z } from 'zod'

import type { Environment } from '../../config.ts'
import type { Remote } from '../remote.ts'
import type { Document } from './document.ts'

export const KIND_NAMES = ['presets', 'guardrails', 'keys', 'budgets'] as const

export type KindName = (typeof KIND_NAMES)[number]

/** An object as the service has it. */
export interface RemoteObject {
  /** Names it in its kind, in files too: a slug, a name, a hash, an interval. */
  readonly identity: string
  readonly document: Document
  /** By which the service finds it. */
  readonly id: string
}

export interface PushOptions {
  readonly env: Environment
  /** Said to the person, not to the service. */
  readonly warn: (sentence: string) => void
  readonly note?: string
  readonly label?: string
  readonly designate: boolean
}

export interface Kind {
  readonly name: KindName
  /** Below the directory; the presets stand in it themselves. */
  readonly folder: string
  /** Without its ending. */
  fileName(object: Pick<RemoteObject, 'identity' | 'document'>): string
  list(remote: Remote): Promise<readonly RemoteObject[]>
  /** Checks a file. */
  readonly schema: z.ZodType
  /** The meaning of a file, complete; `stem`: the file's name. Throws SettingError or ZodError. */
  read(value: Document, stem: string): Pick<RemoteObject, 'identity' | 'document'>
  /** `current`: what the service has; null to make it. */
  write(remote: Remote, document: Document, current: RemoteObject | null, options: PushOptions): Promise<void>
  /** Null where this kind is never removed by a file that is gone. */
  readonly remove: ((remote: Remote, current: RemoteObject) => Promise<void>) | null
}
