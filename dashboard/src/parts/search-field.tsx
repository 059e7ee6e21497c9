/** A search field whose text is in the address, updated a moment after typing. `/` focuses it. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

import { leaveByEscape, useKeys } from '../shell/keyboard.ts'
import { useTyped } from './use-typed.ts'

const PAUSE_MS = 250

export const SearchField = ({ label, placeholder, parameter = 'q' }: { label: string; placeholder: string; parameter?: string }) => {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const given = search[parameter] ?? ''
  const { text, type, sent } = useTyped(given)
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() })
  useEffect(() => {
    if (text === given) return
    const timer = setTimeout(() => {
      sent(text)
      void navigate({ to: '.', search: (before) => ({ ...before, [parameter]: text === '' ? undefined : text }), replace: true })
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, given, sent, navigate, parameter])
  return (
    <input
      ref={field}
      type="search"
      className="search-field"
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onChange={(event) => type(event.target.value)}
      onKeyDown={leaveByEscape}
    />
  )
}
