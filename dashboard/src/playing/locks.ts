/** Fields that a preset locks, and whether a request that sets them is refused. */
import type { PresetShape } from '../api/presets.ts'

export interface Lock {
  /** The preset as requests name it; null for the preset that is being edited. */
  readonly by: string | null
  /** The interface that the names of the fields belong to. */
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
