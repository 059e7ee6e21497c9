import { describe, expect, test } from 'bun:test'

import { cited, finish, image as pictured, logprobs as probable, text } from '../../../test/support/answers.ts'
import { ENVELOPE, delta, ended, LAST, render } from './render-stream.test-kit.ts'

describe('beside its text a stream tells', () => {
  test('a source is an annotation: of the place that it names, else of the text so far; all of them stand in one delta', () => {
    const annotation = (members: string) => `{"type":"url_citation","url_citation":{${members}}}`
    const [a, b] = [cited('https://a'), cited('https://b', { title: 'B', content: 'c', start: 1, end: 0 })]
    const first = annotation('"url":"https://a","title":"","start_index":0,"end_index":2')
    const second = annotation('"url":"https://b","title":"B","content":"c","start_index":1,"end_index":0')
    expect(render(text('Hi'), a, b, text('.'), finish('stop'))).toBe(
      delta('"role":"assistant","content":"Hi"') +
        delta('"content":"."') +
        delta(`"annotations":[${first},${second}]`) +
        ended('stop') +
        LAST,
    )
  })

  test('pictures are numbered', () => {
    const image = (url: string, index: number) => `"images":[{"type":"image_url","image_url":{"url":"${url}"},"index":${index}}]`
    expect(render(pictured('data:image/png;base64,AA'), pictured('https://a/b.png'), finish('stop'))).toBe(
      delta(`"role":"assistant",${image('data:image/png;base64,AA', 0)}`) + delta(image('https://a/b.png', 1)) + ended('stop') + LAST,
    )
  })

  test('log probabilities stand beside a delta that adds nothing', () => {
    const logprobs =
      '{"content":[{"token":"a","logprob":-0.5,"bytes":null,"top_logprobs":[{"token":"a","logprob":-0.5,"bytes":[97]}]}],"refusal":null}'
    expect(render(text('a'), probable('a'), probable(), finish('stop'))).toBe(
      delta('"role":"assistant","content":"a"') +
        `data: ${ENVELOPE}"choices":[{"index":0,"delta":{"content":""},"logprobs":${logprobs},"finish_reason":null}]}\n\n` +
        ended('stop') +
        LAST,
    )
  })

  test('what has no word here is passed over', () => {
    expect(render({ type: 'unknown', kind: 'web_search_call' }, text('Hi'), finish('stop'))).toBe(
      delta('"role":"assistant","content":"Hi"') + ended('stop') + LAST,
    )
  })
})
