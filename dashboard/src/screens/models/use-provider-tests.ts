/** The provider tests that were started on this screen, with their outcomes. */
import { useState } from 'react'

import { type ProviderTest, testProvider } from '../../api/providers.ts'
import { messageOf } from '../../parts/error-note.tsx'

/** `refused`: the sentence of the service's refusal of the test itself. */
export type TestState = 'busy' | ProviderTest | { readonly refused: string }

export interface ProviderTests {
  readonly states: Readonly<Record<string, TestState>>
  readonly test: (slug: string) => void
}

export const useProviderTests = (): ProviderTests => {
  const [states, setStates] = useState<Readonly<Record<string, TestState>>>({})
  const test = (slug: string): void => {
    const set = (state: TestState): void => setStates((before) => ({ ...before, [slug]: state }))
    set('busy')
    testProvider(slug)
      .then(set)
      .catch((thrown: unknown) => set({ refused: messageOf(thrown) }))
  }
  return { states, test }
}
