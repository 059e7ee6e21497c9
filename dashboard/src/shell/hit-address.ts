/** The screen that shows a search hit. */
import type { SearchHit } from '../api/search.ts'

export const addressOf = ({ type, id }: SearchHit): { to: string; search?: Record<string, string> } => {
  switch (type) {
    case 'generation':
    case 'request':
      return { to: `/requests/${encodeURIComponent(id)}` }
    case 'preset':
      return { to: `/presets/${encodeURIComponent(id)}` }
    case 'key':
      return { to: '/keys', search: { key: id } }
    case 'model':
      return { to: '/models', search: { tab: 'models', q: id } }
    case 'member':
      return { to: '/workspaces', search: { member: id } }
  }
}
