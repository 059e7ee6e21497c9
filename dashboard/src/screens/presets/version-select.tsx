import type { ComponentProps } from 'react'

import type { PresetVersion } from '../../api/presets.ts'

interface VersionSelectProps extends Omit<ComponentProps<'select'>, 'onChange' | 'value'> {
  /** Absent if a surrounding field labels it. */
  readonly label?: string
  readonly versions: readonly PresetVersion[]
  readonly value: number
  readonly onChange: (version: string) => void
}

/** The value may be older than the versions that are loaded. */
export const VersionSelect = ({ label, versions, value, onChange, ...rest }: VersionSelectProps) => (
  <select {...rest} aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
    {versions.some(({ version }) => version === value) ? null : <option value={value}>v{value}</option>}
    {versions.map(({ version, note }) => (
      <option key={version} value={version}>
        v{version}
        {note === null ? '' : ` ${note.slice(0, 40)}`}
      </option>
    ))}
  </select>
)
