/** Keyboard shortcuts, which act while no text is being typed. */
import { type KeyboardEvent as KeyPress, useEffect, useRef } from 'react'

import { createChoice } from '../choice.ts'

/** Single keys can be switched off, for people whose speech or hands press them by accident (WCAG 2.1.4). */
export const singleKeys = createChoice(
  'patchbay.single-keys',
  (kept) => kept !== 'off',
  (on) => (on ? 'on' : 'off'),
)

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** By key: `j`, `Enter`, `mod+k` (⌘ or Ctrl). If the function returns false, the key keeps its other effects. */
export type Keys = Readonly<Record<string, (event: KeyboardEvent) => unknown>>

/** A combination with `mod` works everywhere; a single key does not while somebody types, or below an open dialog. */
export const useKeys = (keys: Keys): void => {
  const newest = useRef(keys)
  useEffect(() => {
    newest.current = keys
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey) return
      const isCombined = event.metaKey || event.ctrlKey
      if (!isCombined && (!singleKeys.get() || isTyping(event.target) || document.querySelector('dialog[open]') !== null)) return
      const act = newest.current[(isCombined ? 'mod+' : '') + event.key]
      if (act === undefined || act(event) === false) return
      event.preventDefault()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** Escape leaves a search field as it is, and the keys of the screen act again. The browser would empty the field. */
export const leaveByEscape = (event: KeyPress<HTMLInputElement>): void => {
  if (event.key !== 'Escape') return
  event.preventDefault()
  event.currentTarget.blur()
}
