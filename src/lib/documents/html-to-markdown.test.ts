import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'

import { growth, LINEAR } from '../../../test/support/growth.ts'
import { htmlToMarkdown } from './html-to-markdown.ts'

const LIMITS = { url: 'https://example.com/docs/page', maxCharacters: 10_000 }
const read = (html: string): string => htmlToMarkdown(html, LIMITS).text

describe('a page as Markdown', () => {
  test('headings, paragraphs, stress, lines, lists, quotes, code and tables', () => {
    const html = `<title>A &amp; B</title><h1>Hello <b>wor</b>ld</h1><p>One   two<p>Three<br>four <code>a  b</code>
      <ul><li>one<li>two <ul><li>inner</li></ul></ul><ol><li><p>first</p><p>more</p><li>second</ol>
      <blockquote><p>quoted</p></blockquote><pre>  a
   b</pre><table><tr><th>A<th>B<tr><td><p>1</p><td>2</table>`
    expect(htmlToMarkdown(html, LIMITS)).toEqual({
      title: 'A & B',
      cut: false,
      text: [
        '# Hello **wor**ld',
        'One two',
        'Three\nfour `a b`',
        '- one\n- two\n  - inner\n1. first\n  more\n2. second',
        '> quoted',
        '```\n  a\n   b\n```',
        '| A | B |\n| --- | --- |\n| 1 | 2 |',
      ].join('\n\n'),
    })
  })

  test('links are whole, and those that lead to no page are their text', () => {
    expect(
      read('<p><a href="../x(1)">a <i>link</i></a>, <a href="javascript:alert(1)">run</a> <a href="#here">here</a> <a href="data:x">d</a>'),
    ).toBe('[a *link*](https://example.com/x%281%29), run here d')
  })

  test('the main part is the page where there is enough of it; else all is', () => {
    const words = 'word '.repeat(100).trim()
    expect(read(`<div>Sign up!</div><main><p>${words}</p></main><div>Related</div>`)).toBe(words)
    expect(read(`<div role="main"><p>${words}</p></div><div>Related</div>`)).toBe(words)
    expect(read(`<main><p>Loading</p></main><div>${words}</div>`)).toBe(`Loading\n\n${words}`)
  })

  test('tables that only lay a page out are text', () => {
    expect(read('<table><tr><td><table><tr><td>One</td></tr></table></td></tr><tr><td>Two</td></tr></table>')).toBe('One\nTwo')
  })
})

describe('what a reader is not shown is gone', () => {
  test.each([
    '<script>SECRET</script>',
    '<style>SECRET</style>',
    '<!-- SECRET -->',
    '<!-- <p>SECRET',
    '<noscript>SECRET</noscript>',
    '<template><p>SECRET</p></template>',
    '<svg><title>SECRET</title><text>SECRET</text></svg>',
    '<iframe srcdoc="SECRET">SECRET</iframe>',
    '<textarea>SECRET</textarea><button>SECRET</button><select><option>SECRET</select>',
    '<p hidden>SECRET</p>',
    '<p HIDDEN="until-found">SECRET</p>',
    '<div aria-hidden="true"><p>SECRET</p></div>',
    '<div style="display:none"><p>SECRET</p></div>',
    '<div style="color:red; DISPLAY : none !important">SECRET</div>',
    '<div style="display:/**/none">SECRET</div>',
    '<div style="color:red;/*/display:block;/**/display:none">SECRET</div>',
    '<span style="visibility:hidden">SECRET</span>',
    String.raw`<p style="display:n\6f ne">SECRET</p><p style="d\69splay:none">SECRET</p><p style="display:\none">SECRET</p>`,
    `<p style="${'color:red;'.repeat(2000)}display:none">SECRET</p>`,
    '<p style="opacity:.00">SECRET</p><p style="opacity:0.">SECRET</p>',
    '<span style="opacity:0">SECRET</span><span style="font-size:0px">SECRET</span><span style="opacity:0.0">SECRET</span>',
    '<nav>SECRET</nav><footer>SECRET</footer><aside>SECRET</aside><div role="navigation">SECRET</div>',
    '<meta name="description" content="SECRET"><input value="SECRET"><img src="SECRET">',
  ])('%s', (html) => {
    expect(read(`<p>Seen</p>${html}`)).toBe('Seen')
  })

  test('what is faint or small is seen', () => {
    expect(read('<p style="opacity:0.5;font-size:10px">Seen</p>')).toBe('Seen')
  })

  test('invisible characters are taken out of text and title', () => {
    const page = htmlToMarkdown('<title>T\u200bi</title><p>a\u202eb&#8203;c&ZeroWidthSpace;d\u{e0041}e</p>', LIMITS)
    expect(page).toMatchObject({ title: 'Ti', text: 'abcde' })
  })
})

/** Well-formed pieces of pages. */
const WHOLE = [
  '<p> </p> <div> </div> <i> </i> <b> </b> <a> </a> <ul> <ol> <li> </ul> </ol> <table> <tr> <td> </td> </tr> </table>'.split(' '),
  '<pre> </pre> <blockquote> </blockquote> <main> </main> <svg> </svg> <math> <br> <h1> </h1> <code> word &amp'.split(' '),
  ['<a href="/x">', '<img alt="x">', '<p hidden>', ' ', '\n', '\u200b'],
].flat()
/** Pieces that leave a parser in the middle of something. */
const BROKEN = [
  `< > & &#x &#0; " ' <!-- --> <! <? <![CDATA[ ]]> </ <script> <title> <textarea> <plaintext>`.split(' '),
  ['\0', '< p', '<p a=', '<p "', '<p a="', '<p style="', '<p style="/*">', '/*', '0', '\ud800'],
].flat()
const HIDDEN = ['<script>SECRET</script>', '<style>SECRET</style>', '<template>SECRET</template>', '<!--SECRET-->', '<i hidden>SECRET</i>']
const pageOf = (pieces: readonly string[], other: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pieces) }, { weight: 1, arbitrary: other })).map((parts) => parts.join(''))

test('whatever a page is made of, it is read, and what is said of it is within the bounds', () => {
  fc.assert(
    fc.property(pageOf([...WHOLE, ...BROKEN, ...HIDDEN], fc.string()), fc.integer({ min: 1, max: 300 }), (html, maxCharacters) => {
      const { text, title } = htmlToMarkdown(html, { ...LIMITS, maxCharacters })
      expect(text.length).toBeLessThanOrEqual(maxCharacters)
      expect(title?.length ?? 0).toBeLessThanOrEqual(300)
    }),
    { numRuns: 2000 },
  )
})

test.each(['/*', 'opacity:0', '0', '\\', ';', ' ', 'display'])(
  'the work on a style of %j again and again grows with its length',
  (piece) => {
    const workOn = (size: number) => {
      const html = `<p style="opacity:${piece.repeat(size)}">`
      return () => void htmlToMarkdown(html, { ...LIMITS, maxCharacters: 1000 })
    }
    expect(growth(workOn, 20_000)).toBeLessThan(LINEAR)
  },
)

test('nothing of scripts, styles, comments and hidden elements is said, wherever they stand', () => {
  fc.assert(
    fc.property(pageOf([...WHOLE, ...HIDDEN], fc.stringMatching(/^[\w .]*$/)), (html) => {
      expect(read(html)).not.toContain('SECRET')
    }),
    { numRuns: 2000 },
  )
})

test.each([...WHOLE, ...BROKEN, ...HIDDEN])('the work on %j again and again grows with the length of the page', (piece) => {
  const workOn = (size: number) => {
    const html = piece.repeat(size)
    return () => void htmlToMarkdown(html, { ...LIMITS, maxCharacters: 400_000 })
  }
  expect(growth(workOn, 5000)).toBeLessThan(LINEAR)
})
