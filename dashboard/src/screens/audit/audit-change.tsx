import type { AuditEntry } from '../../api/audit.ts'

/** The members that differ, before and after. They are folded, since most people look for one entry. */
export const AuditChange = ({ of: { object_id: id, before, after } }: { of: AuditEntry }) => {
  const changes = changesOf(before ?? {}, after ?? {})
  if (changes.length === 0) return null
  return (
    <details className="audit-change">
      <summary>{changes.length === 1 ? changes[0]?.name : `${changes.length} fields`}</summary>
      <table className="diff">
        <thead className="hidden-text">
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ name, was, is }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="was">{was}</td>
              <td className="is">{is}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="faint small mono">{id}</p>
    </details>
  )
}

interface Change {
  readonly name: string
  readonly was: string
  readonly is: string
}

/** Changes with every edit, so it says nothing. */
const ALWAYS = new Set(['updated_at'])

const changesOf = (before: NonNullable<AuditEntry['before']>, after: NonNullable<AuditEntry['after']>): readonly Change[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !ALWAYS.has(name))
    .map((name) => ({ name, was: shown(before[name]), is: shown(after[name]) }))
    .filter(({ was, is }) => was !== is)

const shown = (value: unknown): string =>
  value === undefined || value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value)
