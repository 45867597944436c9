import type { JsonSchema } from '../../shared/base/json-schema.ts';
import { jsonText } from './field-tables.ts';
import type { Parameter, PathOperation } from './openapi-types.ts';

/** Sample requests in curl, TypeScript and Python, generated from the examples of the OpenAPI document. */

interface SampleRequest {
  method: string;
  /** Path parameters are placeholders: `{rideId}`. */
  url: string;
  ids: readonly [name: string, value: string][];
  query: readonly [name: string, value: string][];
  headers: readonly [name: string, value: string][];
  body?: object;
  answer: 'json' | 'stream' | 'none';
}

/** A sample request of an operation in each language, as Markdown. */
export function sampleBlocks(url: string, method: string, operation: PathOperation): string[] {
  const request = sampleRequest(url, method, operation);
  return [
    ['sh', 'curl', curl(request)],
    ['ts', 'TypeScript', typescript(request)],
    ['python', 'Python', python(request)],
  ].map(([language, tab, text]) => `\`\`\`${language} example tab=${tab}\n${text}\n\`\`\``);
}

function sampleRequest(url: string, method: string, operation: PathOperation): SampleRequest {
  const { parameters = [], requestBody, responses } = operation;
  const samples = (where: Parameter['in']) =>
    parameters
      .filter(
        (parameter) => parameter.in === where && (parameter.required || exampleOf(parameter.schema) !== undefined),
      )
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
    ids: samples('path'),
    query: samples('query'),
    headers: samples('header'),
    body: body?.value,
    answer: 'text/event-stream' in content ? 'stream' : 'application/json' in content ? 'json' : 'none',
  };
}

const exampleOf = ({ examples }: JsonSchema): unknown => examples?.[0];

function curl({ method, url, ids, query, headers, body, answer }: SampleRequest): string {
  const isDefault = method === (body ? 'POST' : 'GET');
  const options = [
    '-H "Authorization: Bearer $KEY"',
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

function typescript({ method, url, ids, query, headers, body, answer }: SampleRequest): string {
  const target = url.replace(/\{/g, '${');
  const address = query.length > 0 ? `\`${target}?\${query}\`` : ids.length > 0 ? `\`${target}\`` : `'${target}'`;
  const sent = [
    '    Authorization: `Bearer ${process.env.KEY}`,',
    ...headers.map(([name, value]) => `    '${name}': '${value}',`),
    ...(body ? ["    'Content-Type': 'application/json',"] : []),
  ];
  const read = {
    json: ['const answer = await response.json();'],
    stream: ['for await (const chunk of response.body!) process.stdout.write(chunk);'],
    none: [],
  };
  return [
    ...ids.map(([name, value]) => `const ${name} = '${value}';`),
    ...(query.length > 0
      ? ['const query = new URLSearchParams({', ...query.map(([name, value]) => `  ${name}: '${value}',`), '});']
      : []),
    `const response = await fetch(${address}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    ...sent,
    '  },',
    ...(body ? [`  body: JSON.stringify(${indented(javascriptText(body), '  ')}),`] : []),
    '});',
    'if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);',
    ...read[answer],
  ].join('\n');
}

function python({ method, url, ids, query, headers, body, answer }: SampleRequest): string {
  const modules = [
    ...(body || answer === 'json' ? ['json'] : []),
    'os',
    ...(query.length > 0 ? ['urllib.parse'] : []),
    'urllib.request',
  ];
  const target = url.replace(/\{(\w+)\}/g, (_, name: string) => `{${lowerSnake(name)}}`);
  const address = query.length > 0 ? `f"${target}?{query}"` : ids.length > 0 ? `f"${target}"` : `"${target}"`;
  const read = {
    json: ['    answer = json.load(response)'],
    stream: ['    for line in response:', '        print(line.decode(), end="")'],
    none: ['    print(response.status)'],
  };
  return [
    `import ${modules.join(', ')}`,
    '',
    ...ids.map(([name, value]) => `${lowerSnake(name)} = "${value}"`),
    ...(query.length > 0
      ? ['query = urllib.parse.urlencode({', ...query.map(([name, value]) => `    "${name}": "${value}",`), '})']
      : []),
    'request = urllib.request.Request(',
    `    ${address},`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    '    headers={',
    '        "Authorization": f"Bearer {os.environ[\'KEY\']}",',
    ...headers.map(([name, value]) => `        "${name}": "${value}",`),
    ...(body ? ['        "Content-Type": "application/json",'] : []),
    '    },',
    ...(body ? [`    data=json.dumps(${indented(pythonText(body), '    ')}).encode(),`] : []),
    ')',
    '# Raises urllib.error.HTTPError for a status of 400 or more.',
    'with urllib.request.urlopen(request) as response:',
    ...read[answer],
  ].join('\n');
}

/** JSON as a TypeScript literal, with unquoted names and single quotes. */
const javascriptText = (value: object): string =>
  jsonText(value)
    .replace(/"(\w+)":/g, '$1:')
    .replace(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => `'${text.replaceAll("'", "\\'")}'`);

/** JSON as a Python literal: only `true`, `false` and `null` differ. */
const pythonText = (value: object): string =>
  jsonText(value).replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (token) => pythonWords[token] ?? token);
const pythonWords: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`);
const lowerSnake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const upperSnake = (name: string): string => lowerSnake(name).toUpperCase();
