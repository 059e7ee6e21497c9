/** Fields that a preset keeps to itself, and the fate of a request that sets them. */
import type { PresetShape } from '../api/presets.ts'

export interface Lock {
  /** The preset as requests name it; null for the one that is edited. */
  readonly by: string | null
  /** The interface whose names the fields have. */
  readonly shape: PresetShape
  readonly fields: ReadonlySet<string>
  readonly isRefused: boolean
}

export const lockIn = (settings: Readonly<Record<string, unknown>>, shape: PresetShape, by: string | null = null): Lock => {
  const { locked, on_locked: onLocked, ...rest } = settings
  const names = locked === true ? Object.keys(rest) : Array.isArray(locked) ? (locked as readonly unknown[]) : []
  return { by, shape, fields: new Set(names.filter((name) => typeof name === 'string')), isRefused: onLocked === 'reject' }
}

export const lockSentence = ({ by, isRefused }: Lock): string =>
  `Locked${by === null ? '' : ` by ${by}`}: a request that sets it is ${isRefused ? 'refused' : 'overruled'}.`
