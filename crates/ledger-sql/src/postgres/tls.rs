//! TLS to a server: what is asked of its certificate depends on the mode, as with libpq.

use std::io;
use std::path::Path;
use std::sync::Arc;

use ledger::store::StoreError;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::address::{TlsMode, TlsSettings};
use super::errors::io_failure;

/// Asks the server whether it speaks TLS. Afterwards it waits for the handshake, or goes on as before.
pub(super) async fn is_offered(stream: &mut TcpStream) -> Result<bool, StoreError> {
    /// Its length, and the number that stands for this question where the version of the protocol stands otherwise.
    const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
    stream.write_all(&SSL_REQUEST).await.map_err(|error| io_failure(&error))?;
    match stream.read_u8().await.map_err(|error| io_failure(&error))? {
        b'S' => Ok(true),
        b'N' => Ok(false),
        _ => Err(StoreError::Lost("what answers there does not speak PostgreSQL's protocol".into())),
    }
}

pub(super) async fn encrypt(
    stream: TcpStream,
    host: &str,
    settings: &TlsSettings,
) -> Result<TlsStream<TcpStream>, StoreError> {
    let connector = TlsConnector::from(Arc::new(config(settings)?));
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| StoreError::Unreachable(format!("TLS needs the name of a host: {error}")))?;
    connector.connect(name, stream).await.map_err(|error| io_failure(&error))
}

fn config(settings: &TlsSettings) -> Result<ClientConfig, StoreError> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let verifier: Arc<dyn ServerCertVerifier> = match settings.mode {
        TlsMode::VerifyFull => verifier(settings, provider)?,
        TlsMode::VerifyCa => Arc::new(AnyName(verifier(settings, provider)?)),
        TlsMode::Disable | TlsMode::Allow | TlsMode::Prefer | TlsMode::Require => {
            Arc::new(AnyCertificate(provider))
        }
    };
    let config = config.dangerous().with_custom_certificate_verifier(verifier);
    match (&settings.certificate, &settings.key) {
        (Some(certificate), Some(key)) => {
            let key_text = read(key)?;
            let key = PrivateKeyDer::from_pem_slice(&key_text)
                .map_err(|error| no_pem("private key", key, &error))?;
            config.with_client_auth_cert(certificates(certificate)?, key).map_err(|error| unusable(&error))
        }
        (None, None) => Ok(config.with_no_client_auth()),
        _ => Err(StoreError::Unreachable("sslcert and sslkey are only of use together".into())),
    }
}

/// The named file alone, or whom Mozilla trusts.
fn verifier(
    settings: &TlsSettings,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, StoreError> {
    let roots = match &settings.root {
        Some(file) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(|error| no_pem("certificate", file, &error))?;
            }
            roots
        }
        None => webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect(),
    };
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| unusable(&error))
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let text = read(file)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match certificates {
        Ok(certificates) if certificates.is_empty() => {
            Err(no_pem("certificate", file, &"there is none in it"))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(no_pem("certificate", file, &error)),
    }
}

#[expect(clippy::disallowed_methods, reason = "the certificates that the address names")]
fn read(file: &str) -> Result<Vec<u8>, StoreError> {
    let failed = |error: io::Error| StoreError::Unreachable(format!("cannot read `{file}`: {error}"));
    std::fs::read(Path::new(file)).map_err(failed)
}

fn no_pem(what: &str, file: &str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unreachable(format!("cannot read a {what} from `{file}`: {error}"))
}

fn unusable(error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unreachable(format!("TLS cannot be used: {error}"))
}

/// Takes every certificate: the connection is encrypted, but the server is not verified.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Takes a certificate from an authority that we trust, whatever host it is for.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        match self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is looked at last.
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
