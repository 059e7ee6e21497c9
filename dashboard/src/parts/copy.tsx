import { useState } from 'react'

import { say, toast } from '../shell/toasts.tsx'

export const copyText = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    toast('This browser does not let the page copy: select the text instead.')
    return false
  }
}

interface CopyProps {
  readonly text: string
  readonly children?: string
  readonly label?: string
  /** The focus of its dialog starts here. */
  readonly isFirst?: boolean
  readonly onCopied?: () => void
}

/** Words, or an id, that are copied by a click. */
export const Copy = ({ text, children, label, isFirst = false, onCopied }: CopyProps) => {
  const [done, setDone] = useState(false)
  return (
    <button
      type="button"
      className={children === undefined ? 'button plain' : 'copy-id mono'}
      title={children === undefined ? undefined : 'Copy'}
      data-first={isFirst || undefined}
      onClick={() => {
        void copyText(text).then((copied) => {
          if (!copied) return
          setDone(true)
          say('Copied')
          setTimeout(() => setDone(false), 1500)
          onCopied?.()
        })
      }}
    >
      {done ? 'Copied' : (children ?? label ?? 'Copy')}
    </button>
  )
}
