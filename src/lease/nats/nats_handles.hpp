// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <nats/nats.h>

namespace penstock {

/// Destroys an object of libnats by the function that it has for that.
template <auto Destroy>
struct NatsDestroy {
  template <class Object>
  void operator()(Object* object) const noexcept {
    Destroy(object);
  }
};

using NatsSettings = std::unique_ptr<natsOptions, NatsDestroy<natsOptions_Destroy>>;
using NatsConnection = std::unique_ptr<natsConnection, NatsDestroy<natsConnection_Destroy>>;
using NatsJetStream = std::unique_ptr<jsCtx, NatsDestroy<jsCtx_Destroy>>;
using NatsConsumer = std::unique_ptr<jsConsumerInfo, NatsDestroy<jsConsumerInfo_Destroy>>;
using NatsSubscription = std::unique_ptr<natsSubscription, NatsDestroy<natsSubscription_Destroy>>;
using NatsMessage = std::unique_ptr<natsMsg, NatsDestroy<natsMsg_Destroy>>;
using NatsOrigin = std::unique_ptr<jsMsgMetaData, NatsDestroy<jsMsgMetaData_Destroy>>;

}  // namespace penstock
