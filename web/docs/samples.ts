import type { JsonSchema } from '../../shared/base/json-schema.ts';
import type { Audience } from './error-answers.ts';
import { jsonText, pythonLiteral, typescriptLiteral } from './literals.ts';
import type { Parameter, PathOperation } from './openapi-types.ts';

/** Sample requests in curl, TypeScript and Python, generated from the examples of the OpenAPI document. */

interface SampleRequest {
  method: string;
  /** Path parameters are placeholders: `{rideId}`. */
  url: string;
  /** The environment variable that has the key. */
  key: string;
  ids: readonly [name: string, value: string][];
  query: readonly [name: string, value: string][];
  headers: readonly [name: string, value: string][];
  body?: object;
  answer: 'json' | 'stream' | 'none';
}

/** The environment variable that has the key in the samples. */
export const keyVariables = { partner: 'KEY', driver: 'DRIVER' } as const satisfies Record<Audience, string>;

/** A sample request of an operation in each language, as Markdown. */
export function sampleBlocks(url: string, method: string, operation: PathOperation, audience: Audience): string[] {
  const request = sampleRequest(url, method, operation, audience);
  return tabBlocks({ curl: curl(request), typescript: typescript(request), python: python(request) });
}

/** The same sample in each language, as blocks of Markdown that a page shows as tabs. */
export const tabBlocks = (texts: { curl: string; typescript: string; python: string }): string[] =>
  [
    ['sh', 'curl', texts.curl],
    ['ts', 'TypeScript', texts.typescript],
    ['python', 'Python', texts.python],
  ].map(([language, tab, text]) => `\`\`\`${language} example tab=${tab}\n${text}\n\`\`\``);

function sampleRequest(url: string, method: string, operation: PathOperation, audience: Audience): SampleRequest {
  const { parameters = [], requestBody, responses } = operation;
  const samples = (where: Parameter['in']) =>
    parameters
      .filter(({ in: place, required, schema }) => place === where && (required || exampleOf(schema) !== undefined))
      .map(({ name, schema }): [string, string] => {
        const value = exampleOf(schema);
        if (value === undefined) throw new Error(`the parameter ${name} needs an example`);
        return [name, String(value)];
      });
  const [success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const response = responses[success as string];
  const content = response && 'content' in response ? (response.content ?? {}) : {};
  const [body] = Object.values(requestBody?.content['application/json'].examples ?? {});
  return {
    method: method.toUpperCase(),
    url,
    key: keyVariables[audience],
    ids: samples('path'),
    query: samples('query'),
    headers: samples('header'),
    body: body?.value,
    answer: 'text/event-stream' in content ? 'stream' : 'application/json' in content ? 'json' : 'none',
  };
}

const exampleOf = ({ examples }: JsonSchema): unknown => examples?.[0];

function curl({ method, url, key, ids, query, headers, body, answer }: SampleRequest): string {
  const isDefault = method === (body ? 'POST' : 'GET');
  const options = [
    `-H "Authorization: Bearer $${key}"`,
    ...headers.map(([name, value]) => `-H '${name}: ${value}'`),
    ...query.map(([name, value]) => `-d ${name}=${encodeURIComponent(value)}`),
    ...(body ? ["-H 'Content-Type: application/json'", `-d '${jsonText(body)}'`] : []),
  ];
  const flags = [
    ...(answer === 'stream' ? ['-N'] : []),
    ...(query.length > 0 ? ['-G'] : []),
    ...(isDefault ? [] : [`-X ${method}`]),
  ];
  const target = url.replace(/\{(\w+)\}/g, (_, name: string) => `$${upperSnake(name)}`);
  return [
    ...ids.map(([name, value]) => `${upperSnake(name)}=${value}`),
    [['curl', ...flags, target].join(' '), ...options.map((option) => `  ${option}`)].join(' \\\n'),
  ].join('\n');
}

function typescript({ method, url, key, ids, query, headers, body, answer }: SampleRequest): string {
  const target = url.replaceAll('{', '${');
  const address = query.length > 0 ? `\`${target}?\${query}\`` : ids.length > 0 ? `\`${target}\`` : `'${target}'`;
  const sent = [
    `Authorization: \`Bearer \${process.env.${key}}\``,
    ...headers.map(([name, value]) => `'${name}': '${value}'`),
    ...(body ? ["'Content-Type': 'application/json'"] : []),
  ];
  const read = {
    json: ['console.log(await response.json());'],
    stream: [
      'const decoder = new TextDecoder();',
      'for await (const chunk of response.body!) {',
      '  process.stdout.write(decoder.decode(chunk, { stream: true }));',
      '}',
    ],
    none: ['console.log(response.status);'],
  };
  return [
    ...ids.map(([name, value]) => `const ${name} = '${value}';`),
    ...(query.length > 0
      ? [`const query = new URLSearchParams(${typescriptLiteral(Object.fromEntries(query))});`]
      : []),
    `const url = ${address};`,
    'const response = await fetch(url, {',
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(sent.length === 1
      ? [`  headers: { ${sent[0]} },`]
      : ['  headers: {', ...sent.map((one) => `    ${one},`), '  },']),
    ...(body ? [`  body: JSON.stringify(${typescriptLiteral(body, '  ')}),`] : []),
    '});',
    'if (!response.ok) {',
    '  const text = await response.text();',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the sample.
    '  throw new Error(`${response.status} ${text}`);',
    '}',
    ...read[answer],
  ].join('\n');
}

function python({ method, url, key, ids, query, headers, body, answer }: SampleRequest): string {
  const modules = [
    ...(body || answer === 'json' ? ['json'] : []),
    'os',
    ...(query.length > 0 ? ['urllib.parse'] : []),
    'urllib.request',
  ];
  const target = url.replace(/\{(\w+)\}/g, (_, name: string) => `{${lowerSnake(name)}}`);
  const address = query.length > 0 ? `f"${target}?{query}"` : ids.length > 0 ? `f"${target}"` : `"${target}"`;
  const sent = [
    `"Authorization": f"Bearer {os.environ['${key}']}"`,
    ...headers.map(([name, value]) => `"${name}": "${value}"`),
    ...(body ? ['"Content-Type": "application/json"'] : []),
  ];
  const read = {
    json: ['    print(json.load(response))'],
    stream: ['    for line in response:', '        print(line.decode(), end="")'],
    none: ['    print(response.status)'],
  };
  return [
    ...modules.map((name) => `import ${name}`),
    '',
    ...ids.map(([name, value]) => `${lowerSnake(name)} = "${value}"`),
    ...(query.length > 0 ? [`query = urllib.parse.urlencode(${pythonLiteral(Object.fromEntries(query))})`] : []),
    'request = urllib.request.Request(',
    `    ${address},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    ...(sent.length === 1
      ? [`    headers={${sent[0]}},`]
      : ['    headers={', ...sent.map((one) => `        ${one},`), '    },']),
    ...(body ? [`    data=json.dumps(${pythonLiteral(body, '    ')}).encode(),`] : []),
    ')',
    '# A status of 400 or more raises an HTTPError.',
    'with urllib.request.urlopen(request) as response:',
    ...read[answer],
  ].join('\n');
}

const lowerSnake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const upperSnake = (name: string): string => lowerSnake(name).toUpperCase();
