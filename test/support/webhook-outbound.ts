import { Socket as UdpSocket } from 'node:dgram';
import { Socket } from 'node:net';

/**
 * What happens to a connection: it goes to a port of this machine instead, is refused, hangs, or fails with this code.
 */
export type Route = { port: number } | 'refuse' | 'hang' | { fails: string };

/** `dialled`: the requested hosts of all connections, in order. */
export type Outbound = ReturnType<typeof divertOutbound>;

/**
 * Diverts every connection of this process, so that a test can use public addresses without contacting them. `hasRoute`
 * tells whether this machine seems to have a route to public addresses.
 */
export function divertOutbound(route: (host: string) => Route, { hasRoute = true } = {}) {
  const { connect: connectUdp } = UdpSocket.prototype;
  UdpSocket.prototype.connect = function (this: UdpSocket) {
    const noRoute = Object.assign(new Error('no route'), { code: 'ENETUNREACH', syscall: 'connect' });
    process.nextTick(() => (hasRoute ? this.emit('connect') : this.emit('error', noRoute)));
  };
  const { connect } = Socket.prototype;
  const dialled: string[] = [];
  Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
    const [options] = (Array.isArray(args[0]) ? args[0] : args) as [{ host: string; port: number }];
    dialled.push(options.host);
    const way = route(options.host);
    if (typeof way === 'object' && 'port' in way)
      return Reflect.apply(connect, this, [{ ...options, host: '127.0.0.1', port: way.port }]);
    if (way === 'hang') return this;
    const error = { code: way === 'refuse' ? 'ECONNREFUSED' : way.fails, syscall: 'connect', address: options.host };
    process.nextTick(() => this.destroy(Object.assign(new Error('no connection'), error)));
    return this;
  } as typeof connect;
  const restore = () => {
    Socket.prototype.connect = connect;
    UdpSocket.prototype.connect = connectUdp;
  };
  return { dialled, restore };
}
