/** A conversation that tries to run scripts, to request something, and to deceive, in every way that Markdown has. */

const SVG = `data:image/svg+xml;base64,${btoa('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>')}`;
const PAGE = `data:text/html;base64,${btoa('<script>alert(3)</script>')}`;
/** Bytes that are not a picture under the type of one. */
const BROKEN = `data:image/png;base64,${btoa('<script>alert(4)</script>')}`;

export const HOSTILE_MARKDOWN = [
  '[script link](javascript:alert(5))',
  '[spaced link](java&#x0a;script:alert(6))',
  '[entity link](&#106;avascript:alert(7))',
  '[upper link](JAVASCRIPT:alert(8))',
  '[vb link](vbscript:msgbox(9))',
  `[page link](${PAGE})`,
  '[file link](file:///etc/passwd)',
  '[own link](/api/auth/session)',
  '[own host](//elsewhere.test/own)',
  '[reference][evil]\n\n[evil]: javascript:alert(10) "title"',
  '<javascript:alert(11)>',
  '![remote](https://elsewhere.test/track.png?who=me)',
  '![remote](//elsewhere.test/track2.png)',
  `![vector](${SVG})`,
  `![broken](${BROKEN})`,
  '![script](javascript:alert(12))',
  '<img src=x onerror=alert(13)>',
  '<script>alert(14)</script>',
  '<iframe src="https://elsewhere.test/frame"></iframe>',
  '<svg><a href="javascript:alert(15)"><text>svg</text></a></svg>',
  '<style>@import "https://elsewhere.test/style.css";</style>',
  '<b onmouseover=alert(16)>bold</b>',
  '[ok <img src=x onerror=alert(17)>](https://ok.test/")onclick="alert(18)")',
  '```html" onload="alert(19)\n<script>alert(20)</script>\n```',
  '```js\nfetch("https://elsewhere.test/fetch")\n```',
  '| a | b |\n| --- | --- |\n| <img src=x onerror=alert(21)> | `<script>alert(22)</script>` |',
  'right\u202Eto left, &#x202e;named, zero\u200Bwidth',
  '[safe link](https://safe.test/path)',
].join('\n\n');

/** Texts that make parsers and browsers slow, or their stack overflow. */
export const DEEP_TEXTS = [
  `${'*'.repeat(20_000)}deep${'*'.repeat(20_000)}`,
  '> '.repeat(5_000),
  '[a]('.repeat(3_000),
  `${'[['.repeat(3_000)}x${']]'.repeat(3_000)}`,
  '`'.repeat(7_000),
  `${'- '.repeat(2_000)}item`,
  '<'.repeat(7_000),
];

export function hostileChat(traceId: string, startedAt: number) {
  const message = (role: string, content: unknown) => ({ role, content });
  const images = [SVG, PAGE, BROKEN, 'javascript:alert(23)', 'https://elsewhere.test/direct.png', 'blob:null/1'];
  const call = { id: 'call_1', type: 'function', function: { name: HOSTILE_NAME, arguments: '{"a":"<b>"}' } };
  return {
    trace_id: traceId,
    spans: [
      {
        type: 'llm',
        span_id: 'chat',
        name: HOSTILE_NAME,
        input: {
          type: 'chat_messages',
          value: [
            message('system', HOSTILE_MARKDOWN),
            message('user', HOSTILE_MARKDOWN),
            message(
              'user',
              images.map((url) => ({ type: 'image_url', image_url: { url } })),
            ),
            message('user', [{ type: 'input_audio', input_audio: { data: btoa('<script>'), format: 'svg+xml' } }]),
            { role: 'assistant', content: null, tool_calls: [call] },
            { role: 'tool', tool_call_id: 'call_1', content: HOSTILE_MARKDOWN },
            ...DEEP_TEXTS.map((text) => message('assistant', text)),
          ],
        },
        output: {
          type: 'chat_messages',
          value: [message('assistant', [{ type: 'thinking', thinking: HOSTILE_MARKDOWN }])],
        },
        timestamps: { started_at: startedAt, finished_at: startedAt + 1_000 },
      },
    ],
  };
}

const HOSTILE_NAME = '<img src=x onerror=alert(0)>\u202Ename';
