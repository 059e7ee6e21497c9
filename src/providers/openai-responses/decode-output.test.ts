import { expect, test } from 'bun:test'

import { growth, LINEAR } from '../../../test/support/growth.ts'
import { createOutput } from './decode-output.ts'

test('a piece costs as much behind thousands of parts of a summary as behind one', () => {
  expect(
    growth(
      (size) => () => {
        const output = createOutput({ runsCustomTools: false })
        for (let part = 0; part < size; part += 1) output.piece({ output_index: 0, summary_index: part }, 'summary', 'a')
      },
      2000,
    ),
  ).toBeLessThan(LINEAR)
})
