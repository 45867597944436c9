import http from 'node:http';

/** The time of a GET until the complete answer, in ms. */
export function timeOf(url: string, options: http.RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    http
      .get(url, options, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${url} was answered ${response.statusCode}`));
        response.resume().once('end', () => resolve(performance.now() - startedAt));
      })
      .once('error', reject);
  });
}
