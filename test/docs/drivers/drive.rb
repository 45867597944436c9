# Reads one case per line and prints `true` or `false` for each one: see verifiers.test.ts.
require_relative "verify"

$stdin.each_line do |line|
  *fields, now = line.split
  secret, signature, body = fields.map { |field| [field[1..]].pack("H*") }
  puts verify(secret, signature.force_encoding("UTF-8"), body, now: now.to_i)
end
