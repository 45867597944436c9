import { type RedisOptions, startRedis } from '../../dev/servers/redis-server.ts';
import { useFolder } from './folder.ts';
import { useStarted } from './use-started.ts';

/** A Redis of its own, without data, for the tests of the surrounding describe. */
export function useRedis(options: Omit<RedisOptions, 'dataDir'> = {}) {
  const folder = useFolder();
  return useStarted(async () => {
    const server = await startRedis({ ...options, dataDir: folder.path });
    return { ...server, close: server.stop };
  });
}
