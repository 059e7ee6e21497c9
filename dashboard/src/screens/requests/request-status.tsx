import { Status, type Mark } from '../../parts/status.tsx'

interface Ending {
  readonly error_type: string | null
  readonly cancelled: boolean
}

const requestMark = ({ error_type, cancelled }: Ending): Mark => (cancelled ? 'left' : error_type === null ? 'ok' : 'error')

const WORDS = { ok: 'OK', error: 'Error', left: 'Left', none: '', disabled: '' } as const

export const RequestStatus = (ending: Ending) => {
  const mark = requestMark(ending)
  return <Status mark={mark}>{WORDS[mark]}</Status>
}
