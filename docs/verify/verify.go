package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"time"
)

var signatureForm = regexp.MustCompile(`^t=([0-9]{1,15}),v1=([0-9a-f]{64})$`)

// Verify says whether an event is genuine and recent. signature is the header
// X-Service-Signature, rawBody the body as it came: verify before you parse it.
func Verify(secret, signature string, rawBody []byte, now time.Time) bool {
	parts := signatureForm.FindStringSubmatch(signature)
	if parts == nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(parts[1] + "."))
	mac.Write(rawBody)
	given, _ := hex.DecodeString(parts[2])
	t, _ := strconv.ParseInt(parts[1], 10, 64)
	age := now.Unix() - t
	return hmac.Equal(mac.Sum(nil), given) && age < 300 && age > -300
}
