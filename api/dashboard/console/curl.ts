/** Stands for the key, which is not stored and so cannot be shown. */
export const keyVariable = 'SVC_TEST_KEY';

/** A creation (contract, section 4.1) as a curl command for a POSIX shell. Pure. */
export function creationAsCurl({ apiUrl, scenario, body }: { apiUrl: string; scenario: string; body: object }): string {
  const parts = [
    `curl ${shellQuoted(`${apiUrl}/rides`)}`,
    `-H "Authorization: Bearer $${keyVariable}"`,
    `-H 'Content-Type: application/json'`,
    ...(scenario === 'default' ? [] : [`-H ${shellQuoted(`X-Service-Test-Scenario: ${scenario}`)}`]),
    `-d ${shellQuoted(indented(JSON.stringify(body, null, 2)))}`,
  ];
  return parts.join(' \\\n  ');
}

/** JSON under the option that it belongs to: blanks between its parts mean nothing. */
const indented = (json: string): string => json.replaceAll('\n', '\n  ');

/** A text as one word of a POSIX shell: inside single quotes only the quote itself means anything. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
