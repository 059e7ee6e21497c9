import { describe, expect, test } from 'bun:test'

import { args, call, CLAUDE, finish, GEMINI, OPENAI, proven, reasoning, REDACTED, summary, text } from '../../../test/support/answers.ts'
import { delta, ended, details, UNPROVEN, LAST, render } from './render-stream.test-kit.ts'

describe('thinking in a stream', () => {
  test('reasoning, then text', () => {
    expect(render(reasoning('hm'), text('Hi'), finish('stop'))).toBe(
      delta(`"role":"assistant","reasoning":"hm",${details('"type":"reasoning.text","text":"hm","index":0')}`) +
        delta(UNPROVEN) +
        delta('"content":"Hi"') +
        ended('stop') +
        LAST,
    )
  })

  test('the proof of thinking comes as the last piece of its detail, with the format that it tells', () => {
    expect(render(reasoning('a'), reasoning('b'), proven(CLAUDE), reasoning('c'), proven(CLAUDE), text('Hi'), finish('stop'))).toBe(
      delta(`"role":"assistant","reasoning":"a",${details('"type":"reasoning.text","text":"a","index":0')}`) +
        delta(`"reasoning":"b",${details('"type":"reasoning.text","text":"b","index":0')}`) +
        delta(details('"type":"reasoning.text","text":"","signature":"EvQBCk/+==","format":"anthropic-claude-v1","index":0')) +
        delta(`"reasoning":"c",${details('"type":"reasoning.text","text":"c","index":1')}`) +
        delta(details('"type":"reasoning.text","text":"","signature":"EvQBCk/+==","format":"anthropic-claude-v1","index":1')) +
        delta('"content":"Hi"') +
        ended('stop') +
        LAST,
    )
  })

  test('a summary, with the thinking itself encrypted', () => {
    expect(render(summary('hm'), proven(OPENAI), finish('stop'))).toBe(
      delta(`"role":"assistant","reasoning":"hm",${details('"type":"reasoning.summary","summary":"hm","index":0')}`) +
        delta(details('"type":"reasoning.encrypted","data":"gAAAAB-_","id":"rs_theirs","format":"openai-responses-v1","index":0')) +
        ended('stop') +
        LAST,
    )
  })

  test('thinking without readable text', () => {
    expect(render(proven(REDACTED), proven(null), proven(CLAUDE), text('Hi'), finish('stop'))).toBe(
      delta(`"role":"assistant",${details('"type":"reasoning.encrypted","data":"EmwK+/==","format":"anthropic-claude-v1","index":0')}`) +
        delta(details('"type":"reasoning.text","text":"","signature":"EvQBCk/+==","format":"anthropic-claude-v1","index":1')) +
        delta('"content":"Hi"') +
        ended('stop') +
        LAST,
    )
  })

  test('thinking that nothing follows, with and without the end of the answer', () => {
    const thinking =
      delta(`"role":"assistant","reasoning":"hm",${details('"type":"reasoning.text","text":"hm","index":0')}`) + delta(UNPROVEN)
    expect(render(reasoning('hm'), finish('length'))).toBe(thinking + ended('length') + LAST)
    expect(render(reasoning('hm'))).toBe(thinking + ended('stop') + LAST)
    expect(render(reasoning('hm'), proven(null), finish('length'))).toBe(thinking + ended('length') + LAST)
  })

  test('a summary and the thinking itself are details of their own', () => {
    expect(render(reasoning('a'), summary('b'), text('Hi'), finish('stop'))).toBe(
      delta(`"role":"assistant","reasoning":"a",${details('"type":"reasoning.text","text":"a","index":0')}`) +
        delta(
          `"reasoning":"b",${details('"type":"reasoning.text","text":"","format":"unknown","index":0', '"type":"reasoning.summary","summary":"b","index":1')}`,
        ) +
        delta('"content":"Hi"') +
        ended('stop') +
        LAST,
    )
  })

  test('thinking after words or calls says in the id of each piece how much of both stood before it', () => {
    const place = '"id":"pbt1t2c1"'
    expect(
      render(
        proven(REDACTED),
        text('Hi'),
        call(0, 'a'),
        args(0, '{}'),
        reasoning('c'),
        proven(CLAUDE),
        summary('d'),
        proven(OPENAI),
        finish('tool_calls'),
      ),
    ).toBe(
      delta(`"role":"assistant",${details('"type":"reasoning.encrypted","data":"EmwK+/==","format":"anthropic-claude-v1","index":0')}`) +
        delta('"content":"Hi"') +
        delta('"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"a","arguments":""}}]') +
        delta('"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]') +
        delta(`"reasoning":"c",${details(`"type":"reasoning.text","text":"c",${place},"index":1`)}`) +
        delta(details(`"type":"reasoning.text","text":"","signature":"EvQBCk/+==",${place},"format":"anthropic-claude-v1","index":1`)) +
        delta(`"reasoning":"d",${details('"type":"reasoning.summary","summary":"d","id":"pbt2t2c1","index":2')}`) +
        delta(
          details('"type":"reasoning.encrypted","data":"gAAAAB-_","id":"rs_theirs_pbt2t2c1","format":"openai-responses-v1","index":2'),
        ) +
        ended('tool_calls') +
        LAST,
    )
  })

  test('the proof of a tool call is an encrypted detail with the id of the call, ahead of it, and stands with the call as Google has it', () => {
    expect(render(call(0, 'a', GEMINI), args(0, '{}'), finish('tool_calls'))).toBe(
      delta(
        `"role":"assistant",${details('"type":"reasoning.encrypted","data":"CoYB/+==","id":"call_0","format":"google-gemini-v1","index":0')}`,
      ) +
        delta(
          '"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"a","arguments":""},' +
            '"extra_content":{"google":{"thought_signature":"CoYB/+=="}}}]',
        ) +
        delta('"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]') +
        ended('tool_calls') +
        LAST,
    )
  })
})
