/** A search field whose text is in the address, updated a moment after typing. `/` focuses it. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'

import { leaveByEscape, useKeys } from '../shell/keyboard.ts'

const PAUSE_MS = 250

export const SearchField = ({ label, placeholder, parameter = 'q' }: { label: string; placeholder: string; parameter?: string }) => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const given = search[parameter] ?? ''
  const [text, setText] = useState(given)
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() })
  useEffect(() => setText(given), [given])
  useEffect(() => {
    if (text === given) return
    const timer = setTimeout(() => {
      void navigate({ to: '.', search: (before) => ({ ...before, [parameter]: text === '' ? undefined : text }), replace: true })
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, given, navigate, parameter])
  return (
    <input
      ref={field}
      type="search"
      className="search-field"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={leaveByEscape}
    />
  )
}
