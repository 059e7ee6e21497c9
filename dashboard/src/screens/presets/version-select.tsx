import type { ComponentProps } from 'react'

import type { PresetVersion } from '../../api/presets.ts'

interface VersionSelectProps extends Omit<ComponentProps<'select'>, 'onChange' | 'value'> {
  /** Absent if a surrounding field labels it. */
  readonly label?: string
  readonly versions: readonly PresetVersion[]
  readonly value: number
  readonly onChange: (version: string) => void
}

export const VersionSelect = ({ label, versions, value, onChange, ...rest }: VersionSelectProps) => (
  <select {...rest} aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
    {versions.map(({ version, note }) => (
      <option key={version} value={version}>
        v{version}
        {note === null ? '' : ` ${note.slice(0, 40)}`}
      </option>
    ))}
  </select>
)
