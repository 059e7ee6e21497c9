/** Describes each kind of object that can be kept as files. */
import type { z } from 'zod'

import type { Environment } from '../../config.ts'
import type { JsonObject } from '../../lib/json/json.ts'
import type { Remote } from '../remote.ts'
import type { Document } from './document.ts'

export const KIND_NAMES = ['presets', 'guardrails', 'keys', 'budgets'] as const

export type KindName = (typeof KIND_NAMES)[number]

/** An object as the service has it. */
export interface RemoteObject {
  /** Identifies it within its kind, in files too: a slug, a name, a hash, an interval. */
  readonly identity: string
  readonly document: Document
  /** The id by which the service finds it. */
  readonly id: string
  /** The source of the document, with its credentials; absent if objects of this kind have none. */
  readonly config?: JsonObject
}

export interface PushOptions {
  readonly env: Environment
  /** Shows a sentence to the person; it is not sent to the service. */
  readonly warn: (sentence: string) => void
  readonly note?: string
  readonly designate: boolean
}

export interface Kind {
  readonly name: KindName
  /** The folder below the directory; presets are in the directory itself. */
  readonly folder: string
  /** The file name without its extension. */
  fileName(object: Pick<RemoteObject, 'identity' | 'document'>): string
  list(remote: Remote): Promise<readonly RemoteObject[]>
  readonly schema: z.ZodType
  /** The complete object that a file describes; `stem` is the file's name without extension. Throws SettingError or ZodError. */
  read(value: Document, stem: string): Pick<RemoteObject, 'identity' | 'document'>
  /**
   * A document of the service, or the last common one, with the variables of the file that stand for what the service has. Absent if objects
   * of this kind have no credentials.
   */
  withReferences?(document: Document, file: Document, remote: RemoteObject | undefined, env: Environment): Document
  /** `current` is the object on the service; null to create it. Returns the number of the version that it made, if any. */
  write(remote: Remote, document: Document, current: RemoteObject | null, options: PushOptions): Promise<number | undefined>
  /** Absent if objects of this kind have no versions. */
  label?(remote: Remote, identity: string, version: number, label: string): Promise<void>
  /** Null if objects of this kind are never removed because their file is gone. */
  readonly remove: ((remote: Remote, current: RemoteObject) => Promise<void>) | null
}
