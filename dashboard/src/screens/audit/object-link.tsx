import { Link } from '@tanstack/react-router'

import type { AuditEntry } from '../../api/audit.ts'

/** Leads to the object where a screen shows it. */
export const ObjectLink = ({ of: entry }: { of: AuditEntry }) => {
  const { object_type: type, object_id: id } = entry
  const name = nameOf(entry)
  if (type === 'preset') {
    return (
      <Link to="/presets/$slug" params={{ slug: slugOf(entry) ?? id }}>
        {name}
      </Link>
    )
  }
  if (type === 'api_key') {
    return (
      <Link to="/keys" search={{ key: id, status: 'all' }}>
        {name}
      </Link>
    )
  }
  if (type === 'guardrail') {
    return (
      <Link to="/guardrails" search={{ guardrail: id }}>
        {name}
      </Link>
    )
  }
  return <span>{name}</span>
}

const member = (object: AuditEntry['after'], key: string): string | undefined => {
  const value = object?.[key]
  return typeof value === 'string' ? value : undefined
}

const slugOf = ({ before, after }: AuditEntry): string | undefined => member(after, 'slug') ?? member(before, 'slug')

const nameOf = (entry: AuditEntry): string => {
  const { before, after, object_id: id } = entry
  const known = slugOf(entry) ?? member(after, 'name') ?? member(before, 'name')
  return known ?? (id.length > 20 ? `${id.slice(0, 12)}…` : id)
}
