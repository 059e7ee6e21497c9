import { describe, expect, test } from 'bun:test'

import { args, call, cited, finish, image, logprobs, text } from '../../../test/support/answers.ts'
import type { ModelEvent } from '../../canonical/event.ts'
import { frame, start, end, textBlock, textDelta, stop, toolBlock, render } from './render-stream.test-kit.ts'

describe('beside its text a stream tells', () => {
  test('sources of a text are sent in its block, even if it had to wait', () => {
    const source = (index: number, members: string) =>
      frame(
        'content_block_delta',
        `,"index":${index},"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location",${members}}}`,
      )
    const reported = (index: number) =>
      source(index, '"cited_text":"","encrypted_index":"","title":"","url":"https://a"') +
      source(index, '"cited_text":"c","encrypted_index":"","title":"B","url":"https://b"')
    const sources = [cited('https://a'), cited('https://b', { title: 'B', content: 'c' })]
    expect(render(text('Hi'), ...sources, text('you'), finish('stop'))).toBe(
      start() +
        textBlock(0, 'Hi').replace(frame('content_block_stop', ',"index":0'), reported(0)) +
        textDelta(0, 'you') +
        stop(0) +
        end('end_turn'),
    )
    expect(render(call(0, 'a'), text('Hi'), ...sources, args(0, '{}'), finish('stop'))).toBe(
      start() + toolBlock(0, 0, 'a', '{}') + textBlock(1, 'Hi').replace(stop(1), reported(1)) + stop(1) + end('tool_use'),
    )
  })

  test('a picture is a text in Markdown, since typed clients give up an answer with a block that they do not know', () => {
    expect(render(image('data:image/png;base64,AA=='), image('https://a/b.png'), finish('stop'))).toBe(
      start() + textBlock(0, '![image](data:image/png;base64,AA==)') + textBlock(1, '![image](https://a/b.png)') + end('end_turn'),
    )
  })

  test('the stop sequence that ended the text is named; after a tool call the tool is the reason', () => {
    const sequence: ModelEvent = { type: 'finish', reason: 'stop', native: 'stop_sequence', stopSequence: '###' }
    expect(render(text('Hi'), sequence)).toBe(start() + textBlock(0, 'Hi') + end('stop_sequence', 'null', '"###"'))
    expect(render(call(0, 'a'), sequence)).toBe(start() + toolBlock(0, 0, 'a', '{}') + end('tool_use'))
  })

  test('what has no word here is passed over', () => {
    expect(render({ type: 'unknown', kind: 'web_search_call' }, text('Hi'), logprobs('Hi'), finish('stop'))).toBe(
      start() + textBlock(0, 'Hi') + end('end_turn'),
    )
  })
})
