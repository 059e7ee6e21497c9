import { describe, expect, test } from 'bun:test'

import { args, call, cited, finish, image, logprobs, payloads, text } from '../../../test/support/answers.ts'
import { stream, render, message, textItem, completed } from './render-stream.test-kit.ts'

describe('beside its text a stream tells', () => {
  test('sources are annotations of the text: of the place that they name, else of the text so far', () => {
    const place = '"item_id":"msg_abc123_0","output_index":0,"content_index":0'
    const first = '{"type":"url_citation","url":"https://a","title":"","start_index":0,"end_index":2}'
    const second = '{"type":"url_citation","url":"https://b","title":"B","content":"c","start_index":1,"end_index":0}'
    const [added, opened, said, ,] = textItem(0, ['Hi'])
    const part = `{"type":"output_text","text":"Hi","annotations":[${first},${second}],"logprobs":[]}`
    const done = message('msg_abc123_0', 'completed', part)
    expect(render(text('Hi'), cited('https://a'), cited('https://b', { title: 'B', content: 'c', start: 1, end: 0 }), finish('stop'))).toBe(
      stream(
        added!,
        opened!,
        said!,
        ['response.output_text.annotation.added', `${place},"annotation_index":0,"annotation":${first}`],
        ['response.output_text.annotation.added', `${place},"annotation_index":1,"annotation":${second}`],
        ['response.output_text.done', `${place},"text":"Hi","logprobs":[]`],
        ['response.content_part.done', `${place},"part":${part}`],
        ['response.output_item.done', `"output_index":0,"item":${done}`],
        completed(done),
      ),
    )
  })

  test('a source that comes before any text goes with the next text', () => {
    const events = payloads(render(cited('https://a'), call(0, 'a'), args(0, '{}'), text('Hi'), finish('stop')))
    expect(events.at(-1)!.response.output[1]).toMatchObject({ content: [{ text: 'Hi', annotations: [{ url: 'https://a' }] }] })
  })

  test('log probabilities come with a delta that adds nothing, and once more with the whole text', () => {
    const place = '"item_id":"msg_abc123_0","output_index":0,"content_index":0'
    const reported = '{"token":"a","logprob":-0.5,"bytes":[],"top_logprobs":[{"token":"a","logprob":-0.5,"bytes":[97]}]}'
    const [added, opened, said] = textItem(0, ['a'])
    const part = `{"type":"output_text","text":"a","annotations":[],"logprobs":[${reported}]}`
    const done = message('msg_abc123_0', 'completed', part)
    expect(render(text('a'), logprobs('a'), logprobs(), finish('stop'))).toBe(
      stream(
        added!,
        opened!,
        said!,
        ['response.output_text.delta', `${place},"delta":"","logprobs":[${reported}]`],
        ['response.output_text.done', `${place},"text":"a","logprobs":[${reported}]`],
        ['response.content_part.done', `${place},"part":${part}`],
        ['response.output_item.done', `"output_index":0,"item":${done}`],
        completed(done),
      ),
    )
  })

  test('a picture is a call of image generation, with base64 or, where it is elsewhere, its URL', () => {
    const place = '"item_id":"ig_abc123_0","output_index":0'
    const item = (status: string, result: string) =>
      `{"type":"image_generation_call","id":"ig_abc123_0","status":"${status}","result":${result},"output_format":"webp"}`
    expect(render(image('data:image/webp;base64,AA=='), finish('stop'))).toBe(
      stream(
        ['response.output_item.added', `"output_index":0,"item":${item('in_progress', 'null')}`],
        ['response.image_generation_call.in_progress', place],
        ['response.image_generation_call.generating', place],
        ['response.image_generation_call.completed', place],
        ['response.output_item.done', `"output_index":0,"item":${item('completed', '"AA=="')}`],
        completed(item('completed', '"AA=="')),
      ),
    )
    expect(payloads(render(image('https://a/b.png'))).at(-1)!.response.output).toEqual([
      { type: 'image_generation_call', id: 'ig_abc123_0', status: 'completed', result: 'https://a/b.png' },
    ])
  })

  test('what has no word here is passed over', () => {
    expect(render({ type: 'unknown', kind: 'server_tool_use' }, finish('stop'))).toBe(stream(completed()))
  })
})
