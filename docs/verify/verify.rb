require "openssl"

# Whether an event is genuine and recent. signature is the header
# X-Service-Signature, raw_body the body as it came: verify before you parse it.
# now is in Unix seconds.
def verify(secret, signature, raw_body, now: Time.now.to_i)
  parts = /\At=([0-9]{1,15}),v1=([0-9a-f]{64})\z/.match(signature.to_s)
  return false unless parts

  t, v1 = parts.captures
  expected = OpenSSL::HMAC.hexdigest("SHA256", secret, "#{t}.".b + raw_body.b)
  OpenSSL.fixed_length_secure_compare(expected, v1) && (now - t.to_i).abs < 300
end
