import type { Key } from '../../api/keys.ts'
import { Status } from '../../parts/status.tsx'
import { useNow } from '../../parts/when.tsx'

export const KeyState = ({ of: key }: { of: Key }) => {
  const now = useNow()
  if (key.disabled) return <Status mark="disabled">Disabled</Status>
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return <Status mark="left">Expired</Status>
  if (key.limit_remaining !== null && key.limit_remaining <= 0) return <Status mark="error">Limit used up</Status>
  return <Status mark="ok">Active</Status>
}
